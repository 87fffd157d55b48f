import { describe, expect, it } from 'vitest';
import { CARD } from './fleet-layout';
import { linkPath } from './link-path';

describe('the path of a link', () => {
  it('starts and ends outside both cards', () => {
    const { path } = linkPath({ x: 0, y: 0 }, { x: 400, y: 0 });
    const [startX, , , , endX] = (path.match(/-?[\d.]+/g) ?? []).map(Number);
    expect(startX).toBeGreaterThanOrEqual(CARD.width);
    expect(endX).toBeLessThanOrEqual(400);
  });

  it('keeps the two directions of a pair apart', () => {
    const there = linkPath({ x: 0, y: 0 }, { x: 400, y: 0 });
    const back = linkPath({ x: 400, y: 0 }, { x: 0, y: 0 });
    expect(Math.abs(there.label.y - back.label.y)).toBeGreaterThan(20);
  });

  it('has no NaN for cards that are straight above each other', () => {
    expect(linkPath({ x: 0, y: 0 }, { x: 0, y: 168 }).path).not.toContain('NaN');
  });
});
