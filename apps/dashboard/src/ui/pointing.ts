/**
 * Whether somebody points at a thing, so that it holds still under their hand. A pointer that merely rests there, as on a screen
 * on the wall that nobody attends to, points at nothing: what is held for it would be held for ever.
 */

/** How long a pointer lies still before nobody is taken to be at it. Longer than reading a row and deciding what to do takes. */
export const POINTER_RESTS_AFTER_MS = 30_000;

export class Pointing {
  private timer: ReturnType<typeof setTimeout> | undefined;
  private isPointing = false;

  /** @param changed told of every change; at first nobody points */
  constructor(private readonly changed: (isPointing: boolean) => void) {}

  /** The pointer came, moved, turned its wheel or pressed. */
  readonly moved = (): void => {
    clearTimeout(this.timer);
    this.timer = setTimeout(this.left, POINTER_RESTS_AFTER_MS);
    this.set(true);
  };

  /** It is elsewhere now, rests, or what it was on is gone. */
  readonly left = (): void => {
    clearTimeout(this.timer);
    this.set(false);
  };

  private set(isPointing: boolean): void {
    if (isPointing === this.isPointing) return;
    this.isPointing = isPointing;
    this.changed(isPointing);
  }
}
