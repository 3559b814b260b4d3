// Hostile texts, and a guard that notices when one of them is more than a text.
import type { Page } from "playwright-core";

/** Attempts to leave a text, an attribute, an address, a script, a style or a template. */
export const CORPUS = [
  "<script>alert(1)</script>",
  "<img src=x onerror=alert(1)>",
  '"><svg onload=alert(1)>',
  "' autofocus onfocus=alert(1) x='",
  "</title></textarea><script>alert(1)</script>",
  "--><iframe srcdoc='<script>parent.alert(1)</script>'>",
  "javascript:alert(1)",
  "{{ 7 * 7 }}{% raw %}${alert(1)}",
  "&lt;script&gt;alert(1)&lt;/script&gt;",
  "</style><style>*{background:url(https://evil.example)}",
];

/** What the texts would be if one of them were markup. Pages have none of it themselves. */
const MARKUP = "iframe, img, script:not([src]), style, [style], [srcdoc], [onload], [onerror], [onfocus], [href^='javascript:' i]";

/** Fails if a text has become markup; without script that is the only sign. */
export async function expectNoMarkup(page: Page): Promise<void> {
  const found = await page.locator(MARKUP).evaluateAll((all) => all.map((one) => one.outerHTML));
  if (found.length) throw new Error(`${page.url()} has ${found.join("\n")}`);
}

/** Makes dialogs, violations of the policy and requests to other origins complaints. */
export async function guard(page: Page, complaints: string[]): Promise<void> {
  await page.addInitScript(() =>
    addEventListener("securitypolicyviolation", (violation) => console.error(`violated: ${violation.violatedDirective}`)),
  );
  page.on("dialog", (dialog) => {
    complaints.push(`${page.url()}: a script ran`);
    void dialog.dismiss();
  });
  page.on("request", (request) => {
    if (!/^(http:\/\/(localhost|127\.0\.0\.1):|data:)/.test(request.url())) complaints.push(`request to ${request.url()}`);
  });
}
