/**
 * Writes the page of all charts to docs/charts-page, as a web server, or a browser without one, shows it, and the page
 * about the node's requests to docs/kubelet-traffic.md.
 */
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as esbuild from 'esbuild';
import { buildPage, pageDirectory } from './buildPage.mjs';
import { root } from './setup/places.mjs';
import { trafficPage } from './trafficPage.ts';

const directory = join(root, 'docs/charts-page');

await buildPage(esbuild);
mkdirSync(directory, { recursive: true });
copyFileSync(join(pageDirectory, 'charts.html'), join(directory, 'index.html'));
for (const file of ['charts.js', 'charts.css', 'icon.svg'])
  copyFileSync(join(pageDirectory, file), join(directory, file));
writeFileSync(join(root, 'docs/kubelet-traffic.md'), trafficPage());
