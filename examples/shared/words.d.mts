/** Language of an example. */
export type Language = "en" | "de";

/** Languages, each with its own name. */
export const LANGUAGES: Record<Language, string>;

/** First known language of a list of tags, or of the header `Accept-Language`; English without one. */
export function languageOf(preferred: string | readonly (string | null | undefined)[]): Language;

/** Functions of one language. */
export interface Words {
  language: Language;
  /** Text in this language; values replace `{placeholders}`. */
  t(text: string, values?: Record<string, unknown>): string;
  /** Sentence about an error. */
  problem(error: { error: string; message: string; nextActions?: string; retryAfter?: number }): string;
  /** Name of an event of the account. */
  event(kind: string): string;
  when(time: string): string;
  day(time: string): string;
  /** Name of a language in this one. */
  nameOf(locale: string): string;
}

/** Functions of one language. */
export function wordsOf(language: Language): Words;

/** Names of events, by kind. */
export const EVENTS: Record<string, string>;

/** German texts, by the English ones. */
export const GERMAN: Record<string, string>;
