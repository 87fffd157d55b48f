/** Numbers that must outlast the rows they are about, each under a name of its own. */

export const READ_COUNTER = 'SELECT value FROM counters WHERE name = ?';
export const SAVE_COUNTER =
  'INSERT INTO counters (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value';
