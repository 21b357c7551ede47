/** The virtual machine that `npm run vm` has booted, with statelet installed as a systemd service. */
import { basename, dirname, join } from 'node:path';
import * as z from 'zod/mini';
import { lookUp } from '../../../base/values/lookUp.ts';
import { readPodList } from '../../../cli/commands/get/readPods.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import { bootId, disconnect, runInVm } from '../../../scripts/vm/ssh.ts';
import { noAbort } from '../../e2e/support/containerd.ts';
import { eventually } from '../../e2e/support/eventually.ts';
import type { Manifest } from '../../e2e/support/manifests.ts';

/** The name of the node. The static pod `web` is `web-vm`. */
export const NODE_NAME = 'vm';

/** Time limit in milliseconds for any operation on the machine, which is slow if it is emulated. */
const LIMIT_MS = 600_000;

export const ROOT_DIR = '/var/lib/statelet/run';
const MANIFESTS = '/etc/kubernetes/manifests';
const CONFIG_FILE = '/etc/kubernetes/kubelet.json';
export const PROGRAM = '/usr/local/bin/statelet';

export const sshConfigFile = () => {
  const file = process.env.STATELET_VM;
  if (file === undefined) throw new Error('there is no virtual machine: npm run vm');
  return file;
};

/** Runs a shell command as root and returns what it prints, trimmed. */
export const run = async (command: string): Promise<string> =>
  (await runInVm(sshConfigFile(), command, { signal: noAbort })).trim();

/** Writes a file atomically. The agent ignores files whose names start with a dot. */
export function writeFile(path: string, content: string): Promise<string> {
  const [directory, next] = [dirname(path), join(dirname(path), `.next-${basename(path)}`)];
  const command = `mkdir -p ${directory} && cat > ${next} && mv ${next} ${path}`;
  return runInVm(sshConfigFile(), command, { signal: noAbort, input: content });
}

/** Polls the machine until `look` succeeds. */
export const inVm = <T>(what: string, look: () => T | Promise<T>) => eventually(what, look, LIMIT_MS);

/**
 * Writes the configuration of the agent, and the example unit that runs it with these additional arguments. The cgroup
 * driver is systemd's, like that of the machine's containerd, because containerd 1.7 does not report its driver.
 */
export async function configureNode(fields: Readonly<Record<string, unknown>>, ...args: readonly string[]) {
  const kind = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' };
  await writeFile(CONFIG_FILE, JSON.stringify({ ...kind, cgroupDriver: 'systemd', ...fields }));
  const command = [PROGRAM, 'run', '--pod-manifest-path', MANIFESTS, '--config', CONFIG_FILE, ...args].join(' ');
  await writeFile(
    '/etc/systemd/system/statelet.service.d/config.conf',
    `[Service]\nExecStart=\nExecStart=${command}\n`,
  );
}

/** Restarts the unit. Because of Type=notify, the command returns once the agent has started. */
export const restartUnit = () =>
  run('systemctl daemon-reload && systemctl enable --quiet statelet && systemctl restart statelet');

/** Starts the unit with these fields of the KubeletConfiguration and arguments, and waits until the agent responds. */
export async function startNode(
  fields: Readonly<Record<string, unknown>> = {},
  ...args: readonly string[]
): Promise<void> {
  await configureNode(fields, ...args);
  await restartUnit();
  await inVm('the agent responds', pods);
}

/** Returns properties of a unit by name, as `systemctl show` prints them. */
export async function unitProperties(unit: string, ...names: readonly string[]): Promise<Record<string, string>> {
  const output = await run(`systemctl show ${unit} --property=${names.join(',')}`);
  return Object.fromEntries(output.split('\n').map((line) => line.split(/=(.*)/s).slice(0, 2)));
}

/** Returns the text with which the node's HTTPS API responds at a path, requested as documented. */
export function queryText(path: string): Promise<string> {
  const token = `$(cat ${ROOT_DIR}/statelet/server-token)`;
  const url = `https://localhost:10250${path}`;
  return run(`curl -sS --fail --cacert ${ROOT_DIR}/pki/kubelet.crt -H "Authorization: Bearer ${token}" ${url}`);
}

export const queryNode = async (path: string): Promise<unknown> => JSON.parse(await queryText(path));

/** Returns the events that the agent has recorded, from its socket. */
export async function listEvents(): Promise<RecordedEvents> {
  const output = await run(`curl -sS --fail --unix-socket ${ROOT_DIR}/statelet.sock http://localhost/api/v1/events`);
  return eventListSchema.parse(JSON.parse(output)).items;
}

const eventListSchema = z.looseObject({ items: z.array(z.looseObject({ reason: z.string(), message: z.string() })) });

type RecordedEvents = z.infer<typeof eventListSchema>['items'];

/** Returns all pods of the node. As with the kubelet, the node's list is null if there are none. */
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

/** Waits until `look` accepts the pod of the manifest with this name, and returns the result of `look`. */
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

/** Returns the contents of a cgroup file, trimmed. */
export const cgroupFile = (cgroup: string, name: string): Promise<string> => run(`cat ${CGROUPS}/${cgroup}/${name}`);

/** Returns the IDs of the processes in a cgroup and below it. */
export const processesIn = async (cgroup: string): Promise<string[]> =>
  (await run(`cat $(find ${CGROUPS}/${cgroup} -name cgroup.procs)`)).split('\n').filter(Boolean).toSorted();

/** Returns the slice of a pod that is neither Guaranteed nor BestEffort. */
export const burstableSlice = (pod: Pod): string => {
  const burstable = 'kubepods-burstable';
  return `kubepods.slice/${burstable}.slice/${burstable}-pod${sliceId(pod)}.slice`;
};

/** Returns the slice of a pod. */
export function podSlice(pod: Pod): string {
  const parents = {
    Guaranteed: ['kubepods'],
    Burstable: ['kubepods', 'kubepods-burstable'],
    BestEffort: ['kubepods', 'kubepods-besteffort'],
  };
  const names = lookUp(parents, pod.status?.qosClass ?? '') ?? [];
  return [...names, `${names.at(-1)}-pod${sliceId(pod)}`].map((name) => `${name}.slice`).join('/');
}

const sliceId = ({ metadata: { uid } }: Pod): string => uid.replaceAll('-', '_');

/** Returns the cgroup of a pod's only container. */
export const containerCgroup = (pod: Pod): string => `${podSlice(pod)}/${containerScope(pod)}`;

/** Returns the name of the cgroup of a pod's only container, relative to the pod's slice. */
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
