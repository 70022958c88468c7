import { svelte } from '@sveltejs/vite-plugin-svelte'
import { defineConfig } from 'vite'

// The broker serves what is built here, so nothing is loaded from anywhere else. For work on the console itself:
// `npx vite`, with a broker at the address below.
export default defineConfig({
  plugins: [svelte()],
  build: {
    outDir: process.env.CONSOLE_OUT ?? '../src/twinlog/servers/http/static',
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2022',
  },
  server: { proxy: { '/api': { target: 'http://127.0.0.1:15672', changeOrigin: true } } },
})
