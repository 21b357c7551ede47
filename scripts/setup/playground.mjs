import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../base/time/clock.ts';
import { ApiServer } from '../../testing/apiserver/apiServer.ts';
import { printProgress, root } from './places.mjs';
import { runForeground } from './runForeground.mjs';

const NODE_NAME = 'playground';
/** Scrape interval of metrics-server, in milliseconds. */
const SCRAPE_INTERVAL_MS = 15_000;

/** Runs a test API server and a node that has joined it until Ctrl-C. Returns the exit code of the node. */
export async function runPlayground(args) {
  const directory = mkdtempSync(join(tmpdir(), 'statelet-playground-'));
  const server = await ApiServer.start(systemClock);
  const { kubeconfig, close } = await server.serve({ scrapeEveryMs: SCRAPE_INTERVAL_MS });
  const writePrivateFile = (name, text) => {
    const file = join(directory, name);
    writeFileSync(file, text, { mode: 0o600 });
    return file;
  };
  const nodeKubeconfig = writePrivateFile(
    'node.kubeconfig',
    kubeconfig({ name: `system:node:${NODE_NAME}`, groups: ['system:nodes'] }),
  );
  const userKubeconfig = writePrivateFile('kubeconfig', kubeconfig());
  process.stdout.write(introductionText(userKubeconfig));
  // On a terminal, the table overwrites the introduction, so the table shows this note above its rows.
  process.env.STATELET_NOTE = `for kubectl: export KUBECONFIG=${userKubeconfig}`;
  const [stateDirectory, manifestDirectory] = ['state', 'manifests'].map((name) => join(directory, name));
  mkdirSync(manifestDirectory);
  const pathFlags = [
    '--state-dir',
    stateDirectory,
    '--pod-manifest-path',
    manifestDirectory,
    '--hostname-override',
    NODE_NAME,
  ];
  const [{ cluster }] = JSON.parse(kubeconfig()).clusters;
  const caFile = writePrivateFile('ca.crt', Buffer.from(cluster['certificate-authority-data'], 'base64').toString());
  // Use any free port, because a kubelet may run on the host.
  const servingFlags = ['--client-ca-file', caFile, '--port', '0', '--healthz-port', '0'];
  const clusterFlags = ['--kubeconfig', nodeKubeconfig, ...servingFlags];
  const exitCode = await runForeground(join(root, 'cli/statelet.sh'), ['up', ...pathFlags, ...clusterFlags, ...args]);
  server.close();
  await close();
  if (exitCode === 0) rmSync(directory, { recursive: true });
  else
    printProgress(
      `the node exited with ${exitCode}; to stop what is left of it: statelet down --state-dir ${stateDirectory}`,
    );
  return exitCode;
}

const introductionText = (
  file,
) => `A cluster of one node for experiments, not for real workloads. Press Ctrl-C to stop it with all its pods.

  export KUBECONFIG=${file}
  kubectl apply -f ${join(root, 'examples/pods/web.yaml')}
  kubectl describe pod web
  kubectl logs web

`;
