/** Bundles the page in web/ into dist/web: one script, one style sheet, the HTML around them; and the charts, also as a page of their own. */
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeDrawings } from './drawings/write.ts';
import { root } from './setup/places.mjs';

/** Where the page lies. */
export const pageDirectory = join(root, 'dist/web');

const browser = {
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

/** Gives what it was made of, as a metafile of esbuild. */
export async function buildPage(esbuild) {
  mkdirSync(pageDirectory, { recursive: true });
  const { metafile } = await esbuild.build({
    ...browser,
    entryPoints: { page: join(root, 'web/main.tsx') },
    format: 'esm',
  });
  for (const file of ['page.html', 'icon.svg']) copyFileSync(join(root, 'web', file), join(pageDirectory, file));
  const charts = await buildCharts(esbuild);
  return { inputs: { ...metafile.inputs, ...charts.inputs }, outputs: { ...metafile.outputs, ...charts.outputs } };
}

/**
 * The charts as a page that needs no server. From a file a browser runs no modules and fetches nothing: it is one plain
 * script, and the drawings stand in the HTML.
 */
async function buildCharts(esbuild) {
  const { metafile } = await esbuild.build({
    ...browser,
    entryPoints: { charts: join(root, 'web/charts.tsx') },
    format: 'iife',
  });
  const drawings = await writeDrawings(root, join(pageDirectory, 'charts'));
  // In JSON a `<` can only be in a text, where this is the same; in HTML it cannot end the element then.
  const json = JSON.stringify(drawings).replaceAll('<', '\\u003c');
  const page = readFileSync(join(root, 'web/charts.html'), 'utf8').replace('>[]<', () => `>${json}<`);
  writeFileSync(join(pageDirectory, 'charts.html'), page);
  return metafile;
}
