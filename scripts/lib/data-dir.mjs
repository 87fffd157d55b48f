/** Where a gateway of this machine keeps what it keeps. */
export const DATABASE_FILE = 'observatory.db';

/** @param {string | undefined} given as an option */
export const dataDirOf = (given) => given ?? (process.env.OBSERVATORY_DATA_DIR || './data');
