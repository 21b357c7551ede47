/**
 * Writes the list of the metrics that the kubelet declares: `node scripts/kubeletMetrics.mjs KUBERNETES`, where
 * KUBERNETES is the source tree of a release, including `vendor`. Prints the declarations that it cannot parse.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { declaredList } from './kubeletMetrics/declaredList.ts';
import { root } from './setup/places.mjs';

const { text, unread } = declaredList(process.argv[2]);
writeFileSync(join(root, 'test/kubelet-api/metrics/kubelet-1.36-declared.tsv'), text);
for (const message of unread) console.error(message);
