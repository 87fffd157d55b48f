/**
 * The tiers of this codebase as lint errors: an import may only point left.
 *
 *   kernel <- contracts <- domain/<area> <- adapters/<technology> <- apps/<app>
 *
 * `#kernel`, `#contracts`, ... are resolved to the sources (condition `source`), so an import is judged by the file
 * it reaches, not by how it is spelled. Type-only imports count like any other. There is no baseline.
 *
 * @type {import('dependency-cruiser').IConfiguration}
 */
const SPEC = '\\.spec\\.tsx?$';
/** What specs of one folder share, beside them. */
const FIXTURE = '\\.fixture\\.ts$';

module.exports = {
  forbidden: [
    {
      name: 'no-cycles',
      comment: 'Two files that import each other are one file, or a third is missing.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'kernel-imports-nothing-of-ours',
      severity: 'error',
      from: { path: '^libs/kernel/', pathNot: SPEC },
      to: { path: '^(apps|libs|test|bench|scripts|dist)/', pathNot: '^libs/kernel/' },
    },
    {
      name: 'contracts-import-only-kernel',
      severity: 'error',
      from: { path: '^libs/contracts/', pathNot: SPEC },
      to: { path: '^(apps|libs|test|bench|scripts|dist)/', pathNot: '^libs/(kernel|contracts)/' },
    },
    {
      name: 'domain-imports-only-kernel-and-contracts',
      severity: 'error',
      from: { path: '^libs/domain/', pathNot: SPEC },
      to: { path: '^(apps|libs|test|bench|scripts|dist)/', pathNot: '^libs/(kernel|contracts|domain)/' },
    },
    {
      name: 'domain-area-imports-no-other-area',
      comment: 'The app composes areas; a word that two areas share moves to contracts.',
      severity: 'error',
      from: { path: '^libs/domain/src/([^/]+)/' },
      to: { path: '^libs/domain/src/', pathNot: '^libs/domain/src/$1/' },
    },
    {
      name: 'adapters-import-only-inner-tiers',
      severity: 'error',
      from: { path: '^libs/adapters/', pathNot: [SPEC, FIXTURE] },
      to: {
        path: '^(apps|libs|test|bench|scripts|dist)/',
        pathNot: '^libs/(kernel|contracts|domain|adapters)/',
      },
    },
    {
      name: 'adapter-imports-no-other-adapter',
      severity: 'error',
      from: { path: '^libs/adapters/src/([^/]+)/' },
      to: { path: '^libs/adapters/src/', pathNot: '^libs/adapters/src/$1/' },
    },
    {
      name: 'sqlite-comes-in-the-edition-of-this-node',
      comment:
        'By its name it is the one of Node 20; #adapters/sqlite has the one that fits. Types are the same.',
      severity: 'error',
      from: { pathNot: '^libs/adapters/src/sqlite/sqlite-library\\.ts$' },
      to: { path: '(^|/)better-sqlite3', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'libs-import-no-app',
      comment: 'Holds for specs and libs/testing too.',
      severity: 'error',
      from: { path: '^libs/' },
      to: { path: '^apps/' },
    },
    {
      name: 'app-imports-no-other-app',
      severity: 'error',
      from: { path: '^apps/([^/]+)/' },
      to: { path: '^apps/', pathNot: '^apps/$1/' },
    },
    {
      name: 'dashboard-imports-only-kernel-and-contracts',
      severity: 'error',
      from: { path: '^apps/dashboard/', pathNot: SPEC },
      to: {
        path: '^(apps|libs|test|bench|scripts|dist)/',
        pathNot: '^(apps/dashboard|libs/(kernel|contracts))/',
      },
    },
    {
      name: 'browser-imports-no-kernel-index',
      comment:
        "The kernel's index reaches Node's own modules, which a browser lacks: the dashboard takes a file of it that needs " +
        'none by its own name (#kernel/duration). What the dashboard imports of contracts is held to the same; types vanish.',
      severity: 'error',
      from: { path: '^(apps/dashboard|libs/contracts)/', pathNot: SPEC },
      to: {
        path: '^(dist/)?libs/kernel/',
        pathNot: '^libs/kernel/src/duration\\.ts$',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'only-tests-import-testing',
      comment: 'Only *.spec.ts and their fixtures, test/ and bench/ may import libs/testing.',
      severity: 'error',
      from: { pathNot: [SPEC, FIXTURE, '^(test|bench|libs/testing)/'] },
      to: { path: '^(dist/)?libs/testing/' },
    },
    {
      name: 'only-tests-import-fixtures',
      comment: 'The build leaves them out.',
      severity: 'error',
      from: { pathNot: [SPEC, FIXTURE, '^test/'] },
      to: { path: FIXTURE },
    },
    {
      name: 'nest-stays-at-the-rim',
      comment: 'Nothing outside apps/ imports @nestjs/*.',
      severity: 'error',
      from: { pathNot: '^apps/' },
      to: { path: '(^|node_modules/)@nestjs/' },
    },
    {
      name: 'dashboard-imports-no-nest',
      severity: 'error',
      from: { path: '^apps/dashboard/' },
      to: { path: '(^|node_modules/)@nestjs/' },
    },
    {
      name: 'one-entropy-writer',
      comment:
        'A session has one writer of its entropy window: the schema interceptor. The decision-log area may ' +
        'construct the tracker for it; nothing else may, not even the index of the entropy area.',
      severity: 'error',
      from: {
        pathNot: [
          SPEC,
          '^bench/',
          '^apps/gateway/src/decision-log/(schema-interceptor|decision-log\\.area)\\.ts$',
        ],
      },
      to: { path: '^(dist/)?libs/domain/src/entropy/entropy-tracker\\.(ts|js)$' },
    },
    {
      name: 'no-development-package-at-run-time',
      comment: 'The gateway runs from an install without development packages, and without fixtures.',
      severity: 'error',
      from: { path: '^(apps/(?!dashboard/)|libs/(?!testing/))', pathNot: [SPEC, FIXTURE] },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only', 'npm'] },
    },
    {
      name: 'no-undeclared-package',
      severity: 'error',
      from: {},
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown'] },
    },
    {
      name: 'no-unresolvable-import',
      comment: 'What is under dist exists only after a build, so scripts may name it.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true, pathNot: '(^|/)dist/' },
    },
    {
      name: 'no-spec-as-a-library',
      severity: 'error',
      from: {},
      to: { path: SPEC },
    },
  ],
  options: {
    doNotFollow: { path: '(^|/)(node_modules|dist)/' },
    exclude: { path: '^(node_modules/\\.cache|\\.cache|\\.git|data|coverage|test-output|shared)/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['source', 'import', 'require', 'node', 'default', 'types'],
      mainFields: ['module', 'main', 'types', 'typings'],
    },
  },
};
