/** The pods of a small shop, for the tests and screenshots of the page. */
import type { Container } from '../../../kubernetes/api/schema/container.ts';
import type { PodSpec } from '../../../kubernetes/api/schema/pod.ts';
import { type Manifest, podManifest, shell, steadily } from './manifests.ts';

/** The error with which `api` of `checkout-api` exits again and again. */
export const API_FAILS = 'no database at db.shop:5432';

/** The page must not show this value. */
export const API_PASSWORD = 'hunter2-of-the-shop';

const podIn = (
  namespace: string,
  name: string,
  containers: readonly Container[],
  spec: Partial<PodSpec> = {},
): Manifest => {
  const manifest = podManifest(name, containers, { terminationGracePeriodSeconds: 1, ...spec });
  return { ...manifest, metadata: { ...manifest.metadata, namespace } };
};

const ran = (script: string, more: Partial<Container> = {}) => shell('main', script, more);

const well = (namespace: string, name: string, ...others: readonly string[]): Manifest =>
  podIn(namespace, name, [ran(steadily()), ...others.map((other) => shell(other, steadily()))]);

/** `api` fails to connect a while after it has started. The proxy beside it is healthy and has a probe. */
const checkout = podIn(
  'shop',
  'checkout-api',
  [
    shell('api', `echo "connecting to db.shop:5432 as $DB_PASSWORD"; sleep 1.5; echo "${API_FAILS}" >&2; exit 3`, {
      env: [{ name: 'DB_PASSWORD', value: API_PASSWORD }],
      volumeMounts: [{ name: 'settings', mountPath: '/settings' }],
    }),
    shell('proxy', steadily(), {
      readinessProbe: { exec: { command: ['true'] }, periodSeconds: 5 },
      volumeMounts: [{ name: 'tmp', mountPath: '/tmp' }],
    }),
  ],
  {
    volumes: [
      { name: 'settings', emptyDir: {} },
      { name: 'tmp', emptyDir: {} },
    ],
  },
);

/**
 * The pods for the tests: one that keeps failing, one whose image cannot be pulled, one that failed, one that
 * completed, and two that run.
 */
export const shop: readonly Manifest[] = [
  checkout,
  podIn('media', 'thumbs', [ran(':', { image: '127.0.0.1:1/media/thumbs:2' })]),
  podIn('batch', 'import-nightly', [ran('sleep 1; echo "row 8114: no such currency" >&2; exit 2')], {
    restartPolicy: 'Never',
  }),
  podIn('batch', 'report', [ran('exit 0')], { restartPolicy: 'Never' }),
  well('shop', 'auth', 'proxy'),
  well('shop', 'catalog'),
];

/** Additional pods for the screenshots. */
export const restOfShop: readonly Manifest[] = [
  podIn('data', 'postgres', [
    ran(steadily(), {
      startupProbe: { exec: { command: ['false'] }, periodSeconds: 10, failureThreshold: 100 },
    }),
  ]),
  podIn('media', 'encoder', [ran(':', { image: '127.0.0.1:1/media/encoder:7' })]),
  well('edge', 'cache'),
  well('shop', 'payments', 'proxy', 'audit'),
  well('shop', 'search'),
  well('web', 'assets'),
  well('web', 'blog'),
  well('web', 'docs'),
  well('edge', 'dns-a'),
  well('edge', 'ingress', 'reload'),
  well('monitor', 'log-agent'),
  well('batch', 'queue'),
];
