/**
 * For a dialog's `initialFocus`. Base UI gives the focus with the next frame, and on a page that is slow to draw it the
 * first letters somebody types are lost until then.
 *
 * @returns false: nothing is left to be focused; true where there is no such element: the dialog looks for one
 */
export function focusAtOnce(element: HTMLElement | null | undefined): boolean {
  element?.focus();
  return !element;
}
