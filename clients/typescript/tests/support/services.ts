// The services that all test files share: one without verification, one with codes, one with links.
import type { TestProject } from "vitest/node";
import { startService } from "./service.js";

declare module "vitest" {
  export interface ProvidedContext {
    /** A sign-up opens a session at once. */
    open: string;
    /** Addresses are verified, and passwords reset, by code. */
    code: string;
    /** The same by link. */
    link: string;
  }
}

/** Starts them, and stops them in the end. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const verified = { "auth.require_email_verification": "true" };
  const link = { "auth.verify_email_method": "link", "auth.reset_password_method": "link" };
  const services = await Promise.all([startService(), startService(verified), startService({ ...verified, ...link })]);
  const [open, code, linked] = services;
  project.provide("open", open?.url ?? "");
  project.provide("code", code?.url ?? "");
  project.provide("link", linked?.url ?? "");
  return async () => {
    await Promise.all(services.map((service) => service.stop()));
  };
}
