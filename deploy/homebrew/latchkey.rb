# Formula that builds Latchkey from a tagged source; for Linux, where the service runs.
class Latchkey < Formula
  desc "Accounts and profiles as a service, in one binary"
  homepage "https://github.com/latchkey/latchkey"
  url "https://github.com/latchkey/latchkey.git", tag: "v0.1.0"
  license "Apache-2.0"
  head "https://github.com/latchkey/latchkey.git", branch: "main"

  depends_on "rust" => :build
  depends_on :linux

  def install
    system "cargo", "install", "--profile", "dist", *std_cargo_args(path: "crates/server")
    generate_completions_from_executable(bin/"latchkey", "completions")
    system bin/"latchkey", "man", "--out", man1
  end

  service do
    run [opt_bin/"latchkey", "--config", etc/"latchkey/latchkey.toml"]
    keep_alive successful_exit: false
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/latchkey version")
    system bin/"latchkey", "config", "check"
  end
end
