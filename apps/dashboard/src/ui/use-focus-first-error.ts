/** A refused form takes one to the field to mend; mending one of two does not take one away from it. */
import { type RefObject, useEffect, useRef } from 'react';

/**
 * @param problems by field; an empty one is none
 * @returns for the form, whose first `aria-invalid` control gets the focus when a problem is new
 */
export function useFocusFirstError(
  problems: Readonly<Record<string, unknown>>,
): RefObject<HTMLFormElement | null> {
  const form = useRef<HTMLFormElement>(null);
  const known = useRef<readonly string[]>([]);
  const names = Object.keys(problems).filter((name) => problems[name]);
  useEffect(() => {
    const isNew = names.some((name) => !known.current.includes(name));
    known.current = names;
    if (isNew) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  });
  return form;
}
