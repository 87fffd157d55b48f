import { describe, expect, it } from 'vitest';
import { loadSqlite, SQLite, sqlitePackage } from './sqlite-library.js';

describe('the edition of better-sqlite3', () => {
  it.each([
    ['Node 20.20 and 22.13', '9', 'better-sqlite3'],
    ['Node 22.14 and later', '10', 'better-sqlite3-13'],
    ['a Node to come', '11', 'better-sqlite3-13'],
    ['a runtime that does not say', undefined, 'better-sqlite3'],
  ])('of %s', (_node, nodeApi, name) => {
    expect(sqlitePackage(nodeApi)).toBe(name);
  });

  it('opens a database on this Node', () => {
    const database = new SQLite(':memory:');
    expect(database.prepare('SELECT 1 AS one').get()).toEqual({ one: 1 });
    database.close();
  });

  it('says what to do where npm left it out', () => {
    expect(() => loadSqlite('better-sqlite3-of-nobody')).toThrow(
      /^the package better-sqlite3-of-nobody is missing: run "npm ci" .* Node 22\.14 or newer, or with python3/,
    );
  });

  it('passes on what else keeps it from loading', () => {
    const broken = Object.assign(new Error('wrong ELF class'), { code: 'ERR_DLOPEN_FAILED' });
    const load = () => {
      throw broken;
    };
    expect(() => loadSqlite('better-sqlite3', load)).toThrow(broken);
  });
});
