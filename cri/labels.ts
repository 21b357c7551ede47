/** The names that a kubelet writes on sandboxes and containers; log collectors, crictl and cAdvisor read them. */
import { lookUp } from '../base/lookUp.ts';
import type { Container } from './generated/runtime.ts';

/** On sandboxes and on containers: whose they are. A sandbox without the uid is nobody's business here. */
export const POD_NAME_LABEL = 'io.kubernetes.pod.name';
export const POD_NAMESPACE_LABEL = 'io.kubernetes.pod.namespace';
export const POD_UID_LABEL = 'io.kubernetes.pod.uid';
export const CONTAINER_NAME_LABEL = 'io.kubernetes.container.name';

/** What a container is called in its pod; where no label says so, as the runtime calls it. */
export const containerNameOf = ({ labels, metadata }: Pick<Container, 'labels' | 'metadata'>): string =>
  lookUp(labels, CONTAINER_NAME_LABEL) ?? metadata?.name ?? '';

/** Annotations of containers: what must be known of one when its pod is not. */
export const CONTAINER_HASH = 'io.kubernetes.container.hash';
export const RESTART_COUNT = 'io.kubernetes.container.restartCount';
export const TERMINATION_MESSAGE_PATH = 'io.kubernetes.container.terminationMessagePath';
export const TERMINATION_MESSAGE_POLICY = 'io.kubernetes.container.terminationMessagePolicy';
export const PRE_STOP_HANDLER = 'io.kubernetes.container.preStopHandler';
export const CONTAINER_PORTS = 'io.kubernetes.container.ports';
export const POD_GRACE_PERIOD = 'io.kubernetes.pod.terminationGracePeriod';
export const POD_DELETION_GRACE_PERIOD = 'io.kubernetes.pod.deletionGracePeriod';

/** Our mark on sandboxes: the agent that made it, as `ownerMark` writes it. */
export const OWNER = 'statelet.io/owner';

/** The value of our mark: the agent's root directory and its node's name. */
export function ownerMark(rootDir: string, nodeName: string): string {
  return `${rootDir}@${nodeName}`;
}

/** The node's name of a mark that an agent over this root directory has made; undefined of any other. */
export function markedNode(mark: string | undefined, rootDir: string): string | undefined {
  return mark?.startsWith(`${rootDir}@`) ? mark.slice(rootDir.length + 1) : undefined;
}
