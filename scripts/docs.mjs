/**
 * Writes the page of all charts to docs/charts-page, for a web server or a browser without one, the page about the node's
 * requests to docs/kubelet-traffic.md, the one about the fields of a pod to docs/pod-fields.md, and the one about the metrics of
 * a kubelet to docs/metrics.md.
 */
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as esbuild from 'esbuild';
import { buildPage, pageDirectory } from './buildPage.mjs';
import { metricsPage } from './kubeletMetrics/page.ts';
import { podFieldsPage } from './podFields/page.ts';
import { root } from './setup/places.mjs';
import { trafficPage } from './trafficPage.ts';

const directory = join(root, 'docs/charts-page');

await buildPage(esbuild);
mkdirSync(directory, { recursive: true });
copyFileSync(join(pageDirectory, 'charts.html'), join(directory, 'index.html'));
for (const file of ['charts.js', 'charts.css', 'icon.svg'])
  copyFileSync(join(pageDirectory, file), join(directory, file));
writeFileSync(join(root, 'docs/kubelet-traffic.md'), trafficPage());
writeFileSync(join(root, 'docs/pod-fields.md'), podFieldsPage());
writeFileSync(join(root, 'docs/metrics.md'), metricsPage());
