import { describe, expect, it } from 'vitest';
import { detailAt } from './map-detail';

describe('the detail of the map', () => {
  it('shrinks with the zoom', () => {
    expect([1, 0.72, 0.5, 0.34, 0.1].map(detailAt)).toEqual(['all', 'all', 'names', 'names', 'colours']);
  });
});
