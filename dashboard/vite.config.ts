import { defineConfig } from 'vite';

/** Where `npm run dashboard` finds the API; a server of one's own on another port is told by PAWL_URL. */
const API = process.env['PAWL_URL'] ?? 'http://127.0.0.1:7295';

export default defineConfig({
  root: import.meta.dirname,
  base: '/dashboard/',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: '../dist/dashboard',
    emptyOutDir: true,
    // The policy of the server allows nothing inline.
    assetsInlineLimit: 0,
    modulePreload: false,
  },
  server: { proxy: { '/api': API, '/readyz': API } },
});
