import { z } from 'zod';
import { LIMITS, type Page } from '#contracts';

const DEFAULT_PAGE_ROWS = 50;

const NUMERAL = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i;

/**
 * A number of a query, as the documentation's types write it. A blank is none; JavaScript takes it for zero, and whoever asks for
 * all calls up to then finds none. Nor is `0x10`, which it takes for 16.
 */
export const queryNumber = <Coerced extends z.ZodType<number>>(schema: Coerced) =>
  z.preprocess((given) => (typeof given === 'string' && !NUMERAL.test(given) ? Number.NaN : given), schema);

/** A filter that asks for one half, or for the other; absent: for both. */
export const queryFlag = z
  .enum(['true', 'false'])
  .transform((value) => value === 'true')
  .optional();

/** What every listing takes that comes in pages: read by its handler and by the documentation alike. */
export const pageQuery = z.object({
  limit: queryNumber(z.coerce.number().int().min(1).max(LIMITS.pageRowsMax))
    .default(DEFAULT_PAGE_ROWS)
    .describe('Rows in this page, at most.'),
  cursor: z.string().max(LIMITS.cursorCharsMax).optional().describe('The next_cursor of the page before.'),
});

/** A listing short enough to come in one page. */
export const wholeList = <T>(items: T[]): Page<T> => ({ items, next_cursor: null });
