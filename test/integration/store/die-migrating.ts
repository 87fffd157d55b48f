/**
 * Child of migration.spec.ts: brings the database at argv[2] to version argv[3], and is killed when all of the last step
 * is done but its commit.
 */
import { SQLite } from '#adapters/sqlite';
import { MIGRATIONS, migrate } from '../../../libs/adapters/src/sqlite/schema.js';

const [path = '', version = '0'] = process.argv.slice(2);
const database = new SQLite(path);
database.pragma('journal_mode = WAL');
// So small that most of what the step writes is in the log before the end.
database.pragma('cache_size = 10');
migrate(
  database,
  MIGRATIONS.slice(0, Number(version)).with(-1, (target) => {
    MIGRATIONS[Number(version) - 1]?.(target);
    process.kill(process.pid, 'SIGKILL');
  }),
);
