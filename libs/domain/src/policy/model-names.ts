/** Which models a name that an operator wrote stands for. The rule is ModelPrice.model's. */

/** `-2026-01-31`, `-20260131`, `-001`, `-latest`; Vertex AI's `@20260131`, `@default`. */
const VERSION_SUFFIX = /(?:-(?:\d{4}-\d{2}-\d{2}|\d{8}|\d{3}|latest)|@(?:\d{8}|default))$/;

export const withoutVersion = (model: string): string => model.replace(VERSION_SUFFIX, '');

/** @param names a trailing `*` stands for any ending; any other name also for itself with a version */
export const standForModel = (names: readonly string[], model: string): boolean =>
  names.some((name) =>
    name.endsWith('*')
      ? model.startsWith(name.slice(0, -1))
      : name === model || name === withoutVersion(model),
  );
