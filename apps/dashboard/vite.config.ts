/** Builds the dashboard into dist/dashboard, where the gateway serves it; in development proxies to the gateway. */
import { fileURLToPath } from 'node:url';
import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defaultClientConditions, defineConfig } from 'vite';

const gatewayUrl = `http://127.0.0.1:${process.env.PORT ?? 4000}`;
const gatewayPaths = ['/v1', '/docs', '/socket.io', '/healthz', '/readyz', '/metrics', '/proxy', '/agents'];

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  plugins: [react(), tailwindcss()],
  resolve: { conditions: ['source', ...defaultClientConditions] },
  build: {
    outDir: fileURLToPath(new URL('../../dist/dashboard', import.meta.url)),
    emptyOutDir: true,
    target: 'es2023',
    chunkSizeWarningLimit: 700,
    /** The content security policy allows no data: fonts. */
    assetsInlineLimit: 0,
    rollupOptions: {
      /**
       * The dashboard uses the contracts' types and constants; their schemas would bring in zod, which probes for
       * `eval` and so trips the content security policy. Making a schema has no effect, so unused ones may go.
       */
      treeshake: { manualPureFunctions: ['z'] },
      output: {
        /** Libraries change seldom and are large: each family keeps its own file in the browser's cache. */
        manualChunks(id: string): string | undefined {
          if (!id.includes('/node_modules/')) return undefined;
          if (/\/node_modules\/(react|react-dom|scheduler)\//.test(id)) return 'react';
          if (/\/node_modules\/(@xyflow|d3-[^/]+)\//.test(id)) return 'graph';
          if (/\/node_modules\/uplot\//.test(id)) return 'chart';
          if (/\/node_modules\/(socket\.io[^/]*|engine\.io[^/]*|@socket\.io)\//.test(id)) return 'socket';
          if (/\/node_modules\/zod\//.test(id)) return 'zod';
          return 'vendor';
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
