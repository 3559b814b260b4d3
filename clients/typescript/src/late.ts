// Operations whose code is loaded on first use.
import { failure, unreachable } from "./errors.js";

type Operation = (...input: never[]) => unknown;

/** Operations of these names, each of which loads all of them. Without the network their result is an error. */
export const late = <Operations>(names: string, load: () => Promise<Operations>): Operations =>
  Object.fromEntries(
    names.split(" ").map((name) => [
      name,
      async (...input: never[]) => {
        let made: Operations;
        try {
          made = await load();
        } catch (cause) {
          return failure(unreachable(cause));
        }
        return (made as Record<string, Operation>)[name]?.(...input);
      },
    ]),
  ) as Operations;
