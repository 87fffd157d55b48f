import { z } from 'zod';
import { LIMITS, type Page } from '#contracts';

const DEFAULT_PAGE_ROWS = 50;

/** What every listing takes that comes in pages: read by its handler and by the documentation alike. */
export const pageQuery = z.object({
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(LIMITS.pageRowsMax)
    .default(DEFAULT_PAGE_ROWS)
    .describe('Rows in this page, at most.'),
  cursor: z.string().max(LIMITS.cursorCharsMax).optional().describe('The next_cursor of the page before.'),
});

/** A listing short enough to come in one page. */
export const wholeList = <T>(items: T[]): Page<T> => ({ items, next_cursor: null });
