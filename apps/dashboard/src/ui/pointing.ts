/**
 * Whether somebody points at a thing, so that it holds still under their hand. A pointer that merely rests there, as on a screen
 * on the wall that nobody attends to, points at nothing: what is held for it would be held for ever.
 */

/** How long a pointer lies still before nobody is taken to be at it. Longer than reading a row and deciding what to do takes. */
export const POINTER_RESTS_AFTER_MS = 30_000;

/** On the screen. */
export type Place = Pick<PointerEvent, 'screenX' | 'screenY'>;

export class Pointing {
  private timer: ReturnType<typeof setTimeout> | undefined;
  private isPointing = false;
  private place: Place | undefined;

  /** @param changed told of every change; at first nobody points */
  constructor(private readonly changed: (isPointing: boolean) => void) {}

  /** The pointer is there. Where it was there already, the page moved below it, and browsers tell of that, too. */
  readonly moved = (to: Place): void => {
    if (!this.isElsewhere(to)) return;
    this.note(to);
    this.touched();
  };

  /** Its wheel was turned, or a button pressed. */
  readonly touched = (): void => {
    clearTimeout(this.timer);
    this.timer = setTimeout(this.ended, POINTER_RESTS_AFTER_MS);
    this.set(true);
  };

  readonly left = (to: Place): void => {
    this.note(to);
    this.ended();
  };

  /** It rests, or what it was on is gone. */
  readonly ended = (): void => {
    clearTimeout(this.timer);
    this.set(false);
  };

  private isElsewhere({ screenX, screenY }: Place): boolean {
    return this.place?.screenX !== screenX || this.place.screenY !== screenY;
  }

  private note({ screenX, screenY }: Place): void {
    this.place = { screenX, screenY };
  }

  private set(isPointing: boolean): void {
    if (isPointing === this.isPointing) return;
    this.isPointing = isPointing;
    this.changed(isPointing);
  }
}
