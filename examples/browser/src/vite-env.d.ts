/// <reference types="vite/client" />

interface ImportMetaEnv {
  readonly VITE_LATCHKEY_URL?: string;
}
