/** The virtual machine that `npm run vm` has booted, with statelet installed as a service of its systemd. */
import { basename, dirname, join } from 'node:path';
import * as z from 'zod/mini';
import { readPodList } from '../../../cli/commands/get/readPods.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import { bootId, disconnect, runInVm } from '../../../scripts/vm/ssh.ts';
import { noAbort } from '../../e2e/support/containerd.ts';
import { eventually } from '../../e2e/support/eventually.ts';
import type { Manifest } from '../../e2e/support/manifests.ts';

/** The name of the node: the pod `web` is `web-vm`. */
const NODE_NAME = 'vm';

/** Time limit in milliseconds for anything in the machine, which is slow where it is emulated. */
const LIMIT_MS = 600_000;

const ROOT_DIR = '/var/lib/statelet/run';
const MANIFESTS = '/etc/kubernetes/manifests';

const sshConfigFile = () => {
  const file = process.env.STATELET_VM;
  if (file === undefined) throw new Error('there is no virtual machine: npm run vm');
  return file;
};

/** Runs a shell command as root and returns what it prints, trimmed. */
export const run = async (command: string): Promise<string> =>
  (await runInVm(sshConfigFile(), command, { signal: noAbort })).trim();

/** Writes a file at one moment. The agent ignores files whose names start with a dot. */
function writeFile(path: string, content: string): Promise<string> {
  const [directory, next] = [dirname(path), join(dirname(path), `.next-${basename(path)}`)];
  const command = `mkdir -p ${directory} && cat > ${next} && mv ${next} ${path}`;
  return runInVm(sshConfigFile(), command, { signal: noAbort, input: content });
}

/** Waits until a look into the machine succeeds. */
export const inVm = <T>(what: string, look: () => T | Promise<T>) => eventually(what, look, LIMIT_MS);

/**
 * Starts the unit of the example with these fields of the KubeletConfiguration, and waits until the agent answers. The
 * driver of cgroups is systemd's, because that of the machine's containerd is, and containerd 1.7 does not report it.
 */
export async function startNode(fields: Readonly<Record<string, unknown>> = {}): Promise<void> {
  const kind = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' };
  await writeFile('/etc/kubernetes/kubelet.json', JSON.stringify({ ...kind, cgroupDriver: 'systemd', ...fields }));
  const command = `/usr/local/bin/statelet run --pod-manifest-path ${MANIFESTS} --config /etc/kubernetes/kubelet.json`;
  await writeFile(
    '/etc/systemd/system/statelet.service.d/config.conf',
    `[Service]\nExecStart=\nExecStart=${command}\n`,
  );
  // With Type=notify this returns when the agent has started.
  await run('systemctl daemon-reload && systemctl enable --quiet statelet && systemctl restart statelet');
  await inVm('the agent answers', pods);
}

/** Properties of a unit by their names, as `systemctl show` prints them. */
export async function unitProperties(unit: string, ...names: readonly string[]): Promise<Record<string, string>> {
  const output = await run(`systemctl show ${unit} --property=${names.join(',')}`);
  return Object.fromEntries(output.split('\n').map((line) => line.split(/=(.*)/s).slice(0, 2)));
}

/** Returns what the node's HTTPS API responds at a path, requested as the documentation describes it. */
export async function queryNode(path: string): Promise<unknown> {
  const token = `$(cat ${ROOT_DIR}/statelet/server-token)`;
  const url = `https://localhost:10250${path}`;
  return JSON.parse(
    await run(`curl -sS --fail --cacert ${ROOT_DIR}/pki/kubelet.crt -H "Authorization: Bearer ${token}" ${url}`),
  );
}

/** Returns all pods of the node. The node's list is null if there are none, as a kubelet's. */
async function pods(): Promise<Pod[]> {
  const list = podListSchema.parse(await queryNode('/pods'));
  return list.items === null ? [] : readPodList(list);
}

const podListSchema = z.looseObject({ items: z.nullable(z.array(z.unknown())) });

/** Adds the manifest of a pod, or replaces it. */
export const addPod = (manifest: Manifest) =>
  writeFile(`${MANIFESTS}/${manifest.metadata.name}.json`, JSON.stringify(manifest));

/** Removes the manifests of pods, and waits until the pods are gone. */
export async function removePods(...names: readonly string[]): Promise<void> {
  await run(`rm -f ${names.map((name) => `${MANIFESTS}/${name}.json`).join(' ')}`);
  const nodeNames = new Set(names.map((name) => `${name}-${NODE_NAME}`));
  await inVm('the pods are gone', async () => !(await pods()).some(({ metadata }) => nodeNames.has(metadata.name)));
}

/** Waits until the pod of this manifest's name is as the look wants it, and returns what the look returns. */
export async function podUntil<T>(what: string, name: string, look: (pod: Pod) => T) {
  let last: Pod | undefined;
  try {
    return await inVm(`pod ${name} ${what}`, async () => {
      last = (await pods()).find(({ metadata }) => metadata.name === `${name}-${NODE_NAME}`);
      return last && look(last);
    });
  } catch (cause) {
    const log = await run('journalctl --unit statelet --no-pager --lines 30');
    throw new Error(`pod ${name}: ${what}; last seen as ${JSON.stringify(last?.status)}\n${log}`, { cause });
  }
}

/** Waits until all containers of the pod are ready. */
export const runningPod = (name: string): Promise<Pod> =>
  podUntil('runs', name, (pod) => {
    const statuses = pod.status?.containerStatuses ?? [];
    return statuses.length > 0 && statuses.every(({ ready }) => ready) && pod;
  });

const CGROUPS = '/sys/fs/cgroup';

/** Returns a file of a cgroup, trimmed. */
export const cgroupFile = (cgroup: string, name: string): Promise<string> => run(`cat ${CGROUPS}/${cgroup}/${name}`);

/** Returns the IDs of the processes in a cgroup and below it. */
export const processesIn = async (cgroup: string): Promise<string[]> =>
  (await run(`cat $(find ${CGROUPS}/${cgroup} -name cgroup.procs)`)).split('\n').filter(Boolean).toSorted();

/** Returns the slice of a pod that is neither Guaranteed nor BestEffort. */
export const burstableSlice = ({ metadata: { uid } }: Pod): string => {
  const burstable = 'kubepods-burstable';
  return `kubepods.slice/${burstable}.slice/${burstable}-pod${uid.replaceAll('-', '_')}.slice`;
};

/** Returns the name of the cgroup of a pod's only container below the pod's. */
export const containerScope = ({ status }: Pod): string =>
  `cri-containerd-${status?.containerStatuses?.[0]?.containerID?.replace('containerd://', '')}.scope`;

/** Reboots the machine, and waits until its units have started. */
export async function reboot(): Promise<void> {
  const before = await bootId(sshConfigFile(), noAbort);
  await run('systemctl reboot --no-block');
  await disconnect(sshConfigFile(), noAbort);
  await inVm('the machine has booted again', async () => (await bootId(sshConfigFile(), noAbort)) !== before);
  await run('systemctl is-system-running --wait || true');
}
