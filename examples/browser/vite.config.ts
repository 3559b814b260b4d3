// The app of the example, at http://localhost:5173.
import { defineConfig } from "vite";

export default defineConfig({
  server: { port: 5173, strictPort: true },
});
