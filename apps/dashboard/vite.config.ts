/** Builds the dashboard into dist/dashboard, where the gateway serves it; in development proxies to the gateway. */
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defaultClientConditions, defineConfig, type Plugin } from 'vite';

const gatewayUrl = `http://127.0.0.1:${process.env.PORT ?? 4000}`;
const gatewayPaths = [
  '/v1',
  '/docs',
  '/socket.io',
  '/healthz',
  '/readyz',
  '/metrics',
  '/proxy',
  '^/agents/[^/]+/proxy/',
];

/** Beside each script and style its gzipped form, less than a third of it, which the gateway sends to whoever takes it. */
const gzipped: Plugin = {
  name: 'gzipped',
  apply: 'build',
  writeBundle({ dir = '' }, bundle) {
    for (const name of Object.keys(bundle)) {
      if (!/\.(js|css)$/.test(name)) continue;
      const path = join(dir, name);
      writeFileSync(`${path}.gz`, gzipSync(readFileSync(path), { level: 9 }));
    }
  },
};

const LICENCES = 'licenses.txt';

/** Vite names the packages whose scripts are in the dashboard; these come in by its style sheets. */
const STYLED_BY = ['@fontsource-variable/inter', '@fontsource-variable/jetbrains-mono', 'tailwindcss'];

const licencesOfStyles: Plugin = {
  name: 'licences-of-styles',
  apply: 'build',
  writeBundle({ dir = '' }) {
    for (const name of STYLED_BY) {
      const [manifest, text] = ['package.json', 'LICENSE'].map((file) =>
        readFileSync(new URL(`../../node_modules/${name}/${file}`, import.meta.url), 'utf8'),
      ) as [string, string];
      const { version, license } = JSON.parse(manifest);
      appendFileSync(join(dir, LICENCES), `\n## ${name} - ${version} (${license})\n\n${text}`);
    }
  },
};

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  plugins: [react(), tailwindcss(), gzipped, licencesOfStyles],
  resolve: {
    conditions: ['source', ...defaultClientConditions],
    alias: [{ find: /^zod$/, replacement: fileURLToPath(new URL('./src/zod-left-out.ts', import.meta.url)) }],
  },
  build: {
    outDir: fileURLToPath(new URL('../../dist/dashboard', import.meta.url)),
    emptyOutDir: true,
    license: { fileName: LICENCES },
    target: 'es2023',
    chunkSizeWarningLimit: 700,
    /** The content security policy allows no data: fonts. */
    assetsInlineLimit: 0,
    rolldownOptions: {
      output: {
        /** Libraries change seldom and are large: each family keeps its own file in the browser's cache. */
        codeSplitting: {
          /** Else a lazily loaded family would swallow React, and be loaded at once with it. */
          includeDependenciesRecursively: false,
          groups: [
            {
              name: 'react',
              test: /\/node_modules\/(react|react-dom|scheduler|use-sync-external-store)\//,
              priority: 3,
            },
            { name: 'graph', test: /\/node_modules\/(@xyflow|d3-[^/]+|classcat)\//, priority: 2 },
            { name: 'chart', test: /\/node_modules\/uplot\//, priority: 2 },
            /** Base UI's menu, which one late page alone uses. */
            {
              name: 'menu',
              test: /\/node_modules\/@base-ui\/react\/(menu|menubar|context-menu)\//,
              priority: 2,
            },
            {
              name: 'socket',
              test: /\/node_modules\/(socket\.io[^/]*|engine\.io[^/]*|@socket\.io)\//,
              priority: 2,
            },
            { name: 'vendor', test: /\/node_modules\//, priority: 1 },
          ],
        },
      },
    },
  },
  server: {
    port: 5173,
    strictPort: true,
    proxy: Object.fromEntries(
      gatewayPaths.map((path) => [
        path,
        { target: gatewayUrl, changeOrigin: false, ws: path === '/socket.io' },
      ]),
    ),
  },
});
