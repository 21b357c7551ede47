/**
 * Generates docs/charts-page (all charts, viewable without a server), docs/kubelet-traffic.md (the node's requests),
 * docs/pod-fields.md (the fields of a pod), docs/metrics.md (the metrics of a kubelet) and docs/reference/node-suite.md
 * (the specs of Kubernetes' node suite).
 */
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as esbuild from 'esbuild';
import { buildPage, pageDirectory } from './bundle/buildPage.mjs';
import { metricsPage } from './kubeletMetrics/page.ts';
import { NODE_SUITE_PAGE, nodeSuitePage } from './nodeSuite/page.ts';
import { podFieldsPage } from './podFields/page.ts';
import { root } from './setup/places.mjs';
import { trafficPage } from './trafficPage.ts';

const chartsPageDirectory = join(root, 'docs/charts-page');

await buildPage(esbuild);
mkdirSync(chartsPageDirectory, { recursive: true });
copyFileSync(join(pageDirectory, 'charts.html'), join(chartsPageDirectory, 'index.html'));
for (const file of ['charts.js', 'charts.css', 'icon.svg'])
  copyFileSync(join(pageDirectory, file), join(chartsPageDirectory, file));
writeFileSync(join(root, 'docs/kubelet-traffic.md'), trafficPage());
writeFileSync(join(root, 'docs/pod-fields.md'), podFieldsPage());
writeFileSync(join(root, 'docs/metrics.md'), metricsPage());
writeFileSync(join(root, NODE_SUITE_PAGE), nodeSuitePage());
