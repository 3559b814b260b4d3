// Services shared by all test files: without verification, with codes, with links.
import type { TestProject } from "vitest/node";
import { startService } from "./service.js";

declare module "vitest" {
  export interface ProvidedContext {
    /** A sign-up opens a session at once. */
    open: string;
    /** Addresses are verified, and passwords reset, by code. */
    code: string;
    /** Addresses are verified, and passwords reset, by link; sign-in mails have one too. */
    link: string;
  }
}

/** Starts the services; returns their teardown. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const verified = { "auth.require_email_verification": "true" };
  const link = { "auth.verify_email_method": "link", "auth.reset_password_method": "link", "auth.email_sign_in": "code_and_link" };
  const services = await Promise.all([startService(), startService(verified), startService({ ...verified, ...link })]);
  const [open, code, linked] = services;
  project.provide("open", open?.url ?? "");
  project.provide("code", code?.url ?? "");
  project.provide("link", linked?.url ?? "");
  return async () => {
    await Promise.all(services.map((service) => service.stop()));
  };
}
