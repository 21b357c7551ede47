import { messageOf } from '../../../base/failure.ts';
import type { Cri } from '../../../cri/client/calls.ts';
import {
  CreateContainerRequest,
  ExecSyncRequest,
  PodSandboxConfig,
  PodSandboxStatusRequest,
  RunPodSandboxRequest,
} from '../../../cri/generated/runtime.ts';
import { BUSYBOX_IMAGE } from '../../../cri/managed/images/images.ts';
import { noAbort } from './containerd.ts';

interface RawPodInput {
  readonly name: string;
  readonly command: readonly string[];
  readonly cgroupParent: string;
  /** The host port that is mapped to port 80 of the pod. */
  readonly hostPort?: number;
  /** Default: `uid-<name>`. */
  readonly uid?: string;
  /** Labels of both the sandbox and the container. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Annotations of the container. */
  readonly annotations?: Readonly<Record<string, string>>;
}

/** A pod with one container, created by plain CRI calls. */
interface RawPod {
  readonly sandboxId: string;
  readonly containerId: string;
  readonly ip: string;
}

/** Runs a pod with one busybox container. */
export async function runRawPod(cri: Cri, input: RawPodInput): Promise<RawPod> {
  const options = { signal: noAbort };
  const config = sandboxConfig(input);
  const sandboxId = await runSandbox(cri, config);
  const status = await cri.podSandboxStatus(PodSandboxStatusRequest.fromPartial({ podSandboxId: sandboxId }), options);
  const request = CreateContainerRequest.fromPartial({
    podSandboxId: sandboxId,
    sandboxConfig: config,
    config: {
      metadata: { name: 'main' },
      image: { image: BUSYBOX_IMAGE },
      command: [...input.command],
      labels: { ...input.labels, 'io.kubernetes.container.name': 'main' },
      annotations: { ...input.annotations },
    },
  });
  const { containerId } = await cri.createContainer(request, options);
  await cri.startContainer({ containerId }, options);
  return { sandboxId, containerId, ip: status.status?.network?.ip ?? '' };
}

/**
 * Runs a sandbox, and retries once if its network could not be set up. With iptables on nftables, a chain can be
 * invisible while other tests change the rules of the host. The kubelet retries as well.
 */
async function runSandbox(cri: Cri, config: PodSandboxConfig): Promise<string> {
  const request = RunPodSandboxRequest.fromPartial({ config });
  const options = { signal: noAbort };
  const { podSandboxId } = await cri.runPodSandbox(request, options).catch((error: unknown) => {
    if (!/failed to setup network .* iptables/.test(messageOf(error))) throw error;
    return cri.runPodSandbox(request, options);
  });
  return podSandboxId;
}

/** Runs a command in a container, and returns its exit code and output. */
export async function execIn(
  cri: Cri,
  containerId: string,
  ...cmd: string[]
): Promise<{ exitCode: number; out: string }> {
  const request = ExecSyncRequest.fromPartial({ containerId, cmd, timeout: 10n });
  const { exitCode, stdout, stderr } = await cri.execSync(request, { signal: noAbort });
  return { exitCode, out: Buffer.concat([stdout, stderr]).toString() };
}

function sandboxConfig({
  name,
  cgroupParent,
  hostPort,
  uid = `uid-${name}`,
  labels = {},
}: RawPodInput): PodSandboxConfig {
  return PodSandboxConfig.fromPartial({
    metadata: { name, uid, namespace: 'default', attempt: 0 },
    hostname: name,
    logDirectory: '',
    labels: { ...labels },
    portMappings: hostPort === undefined ? [] : [{ containerPort: 80, hostPort }],
    linux: { cgroupParent },
  });
}
