#!/bin/sh
# Installs a Debian package, starts the service by the command of its unit, removes and purges the package: in a copy of this
# machine that is written to memory, in name spaces of its own, as root. $1: the package.
set -eu
package=$(readlink -f "$1")
ip link set lo up

work=$(mktemp -d)
mount -t tmpfs tmpfs "$work"
mkdir "$work/upper" "$work/work" "$work/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$work/upper,workdir=$work/work" "$work/root"
mount --bind /proc "$work/root/proc"
mount --bind /dev "$work/root/dev"
mkdir -p "$work/root/run"
mount -t tmpfs tmpfs "$work/root/run"
cp "$package" "$work/root/tmp/latchkey.deb"

cat > "$work/root/tmp/lives.sh" <<'INNER'
set -eu
config=/etc/latchkey/latchkey.toml
fail() { echo "$1"; exit 1; }
is_mode() { [ "$(stat -c %U:%a "$1")" = "$2" ] || fail "$1 is $(stat -c %U:%a "$1"), not $2"; }
as_latchkey() { setpriv --reuid latchkey --regid latchkey --clear-groups -- "$@"; }

rm -rf /etc/latchkey /var/lib/latchkey # what an installation on this machine left
DEBIAN_FRONTEND=noninteractive dpkg --install /tmp/latchkey.deb > /tmp/dpkg.log 2>&1 || { cat /tmp/dpkg.log; exit 1; }
dpkg --verify latchkey
is_mode /etc/latchkey latchkey:700
is_mode /var/lib/latchkey latchkey:700
for name in nginx.conf Caddyfile alerts.yaml grafana.json; do
    is_mode /usr/share/doc/latchkey/examples/$name root:644
done
[ ! -e $config ] || fail "the package brings settings"
grep -q "ConditionPathExists=$config" /usr/lib/systemd/system/latchkey.service || fail "the unit has no condition"

echo 'mail password' | as_latchkey latchkey init --production --public-url https://accounts.example.com \
    --smtp smtp://no-reply@mail.example.com --out /etc/latchkey > /tmp/init.log || { cat /tmp/init.log; exit 1; }
is_mode /etc/latchkey/server-secret latchkey:600
command=$(sed -n 's/^ExecStart=//p' /usr/lib/systemd/system/latchkey.service)
setpriv --reuid latchkey --regid latchkey --clear-groups -- $command > /tmp/service.log 2>&1 &
service=$!
tries=0
until latchkey health http://127.0.0.1:8700 > /dev/null 2>&1; do
    tries=$((tries + 1))
    if [ "$tries" -gt 100 ]; then cat /tmp/service.log; fail "the service does not become ready"; fi
    sleep 0.2
done
kill -TERM $service
wait $service || fail "the service ended with $?"

echo '# changed' >> /etc/default/latchkey
dpkg --install /tmp/latchkey.deb > /tmp/dpkg.log 2>&1 || { cat /tmp/dpkg.log; exit 1; }
grep -q changed /etc/default/latchkey || fail "an upgrade replaced a changed file of the configuration"
dpkg --remove latchkey > /tmp/dpkg.log 2>&1 || { cat /tmp/dpkg.log; exit 1; }
[ ! -e /usr/bin/latchkey ] || fail "the program is left"
[ -e /etc/default/latchkey ] && [ -e $config ] && [ -e /var/lib/latchkey/latchkey.db ] || fail "a removal took files along"
dpkg --install /tmp/latchkey.deb > /tmp/dpkg.log 2>&1 || { cat /tmp/dpkg.log; exit 1; }
as_latchkey latchkey --config $config config check > /tmp/check.log || { cat /tmp/check.log; exit 1; }
dpkg --purge latchkey > /tmp/dpkg.log 2>&1 || { cat /tmp/dpkg.log; exit 1; }
[ ! -e /etc/default/latchkey ] || fail "a purge left the configuration of the package"
grep -q 'latchkey: /var/lib/latchkey is kept' /tmp/dpkg.log || fail "a purge does not say what it kept"
[ -e /var/lib/latchkey/latchkey.db ] || fail "a purge deleted the accounts"
rm -rf /etc/latchkey/* /var/lib/latchkey/*
dpkg --install /tmp/latchkey.deb > /dev/null 2>&1
dpkg --purge latchkey > /dev/null 2>&1
[ ! -e /etc/latchkey ] && [ ! -e /var/lib/latchkey ] || fail "a purge left empty folders"
echo "installed, started, upgraded, removed, installed again, purged"
INNER
chroot "$work/root" sh /tmp/lives.sh
