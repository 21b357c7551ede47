/**
 * Bundles the page in web/ into one script, one style sheet and HTML in dist/web. Also bundles the charts as a separate
 * page.
 */
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeDrawings } from '../drawings/write.ts';
import { root } from '../setup/places.mjs';

export const pageDirectory = join(root, 'dist/web');

const browserOptions = {
  absWorkingDir: root,
  outdir: pageDirectory,
  bundle: true,
  platform: 'browser',
  target: ['chrome125', 'firefox128', 'safari18'],
  jsx: 'automatic',
  jsxImportSource: 'preact',
  minify: true,
  sourcemap: false,
  metafile: true,
  legalComments: 'none',
  logLevel: 'warning',
};

/** Builds the page. Returns the combined metafile of esbuild. */
export async function buildPage(esbuild) {
  mkdirSync(pageDirectory, { recursive: true });
  const { metafile } = await esbuild.build({
    ...browserOptions,
    entryPoints: { page: join(root, 'web/main.tsx') },
    format: 'esm',
  });
  for (const file of ['page.html', 'icon.svg']) copyFileSync(join(root, 'web', file), join(pageDirectory, file));
  const charts = await buildCharts(esbuild);
  return { inputs: { ...metafile.inputs, ...charts.inputs }, outputs: { ...metafile.outputs, ...charts.outputs } };
}

/**
 * Builds the page of charts, which works without a server. It uses a classic script and embeds the drawings in its
 * HTML, because browsers neither run modules from `file:` URLs nor fetch such URLs.
 */
async function buildCharts(esbuild) {
  const { metafile } = await esbuild.build({
    ...browserOptions,
    entryPoints: { charts: join(root, 'web/charts.tsx') },
    format: 'iife',
  });
  const drawings = await writeDrawings(root, join(pageDirectory, 'charts'));
  // Escape `<`, which JSON contains only in strings, so that no string ends the script element.
  const drawingsJson = JSON.stringify(drawings).replaceAll('<', '\\u003c');
  const pageHtml = readFileSync(join(root, 'web/charts.html'), 'utf8').replace('>[]<', () => `>${drawingsJson}<`);
  writeFileSync(join(pageDirectory, 'charts.html'), pageHtml);
  return metafile;
}
