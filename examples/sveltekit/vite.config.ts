import { sveltekit } from "@sveltejs/kit/vite";
import { defineConfig } from "vite";

// The look and the words are shared by the examples of this repository, outside of this folder.
export default defineConfig({ plugins: [sveltekit()], server: { fs: { allow: ["../shared"] } } });
