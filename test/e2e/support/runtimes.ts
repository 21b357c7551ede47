import { join } from 'node:path';
import { root } from '../../support/root.ts';

/** A container runtime on which the suites of test/e2e run, by the name of its project in jest.config.mjs. */
interface TestRuntime {
  /** The major version of containerd. */
  readonly name: 'containerd-1' | 'containerd-2';
  /** The directory of its programs. Undefined for those that are installed on the host. */
  readonly programs?: string;
}

/** Debian 12's containerd 1.6 and runc 1.1, and sid's containerd 2.1 and runc 1.3, which `npm test` downloads. */
export const TEST_RUNTIMES: readonly TestRuntime[] = [
  { name: 'containerd-1' },
  { name: 'containerd-2', programs: join(root, '.cache/containerd/bin') },
];

/** Whether this suite runs on containerd 2. Otherwise it runs on containerd 1. */
export const isContainerd2 = process.env.STATELET_TEST_RUNTIME === 'containerd-2';

/**
 * The suites that run on the first runtime only, with the reason. All others run on each runtime, and so does every new
 * suite.
 */
export const SINGLE_RUNTIME_SUITES: Readonly<Record<string, string>> = {
  cases: 'reads manifests',
  descriptors: 'exhausts the file descriptors of the agent',
  endedEvents: 'sends events to an API server',
  fullDisk: 'writes the files of the agent',
  heldEvents: 'sends events to an API server',
  hostileText: 'prints what the agent knows of a pod',
  installed: 'runs the installed command',
  kubectl: 'shows what an API server stores',
  kubectlNode: 'runs the commands of kubectl, whose streams relay, sessions and streamFaults test on each runtime',
  kubelets: 'looks for processes of a kubelet',
  localObjects: 'writes volumes and variables from files',
  manifestUrl: 'reads manifests from a URL',
  objects: 'writes volumes and variables from objects of an API server',
  page: 'opens the page in a browser',
  playground: 'runs `npm run playground`',
  prometheus: 'scrapes the metrics of the agent',
  recording: 'replays a recording of the agent',
  reservations: 'limits cgroups of the host',
  runtimeAway: 'starts no runtime',
  servingCertificate: 'requests a certificate from an API server',
  'support/freePort': 'starts no runtime',
  systemd: 'notifies systemd',
  top: 'prints the usage that the agent measures',
  urlSecrets: 'reads manifests from a URL',
};
