/** The cgroup that this process is in. */
import { readFileSync } from 'node:fs';

/**
 * The path of the agent's own cgroup below the root of the hierarchy, by the text of `/proc/self/cgroup` (`getContainer`
 * in `pkg/kubelet/cm/container_manager_linux.go`). Empty for the root. Undefined on cgroup v1 if cpu and memory have
 * different cgroups, because no cgroup then has the usage of the agent.
 */
export function agentCgroup(text: string): string | undefined {
  const paths = new Map<string, string>();
  for (const line of text.split('\n')) {
    const [, controllers = '', path = ''] = /^\d+:([^:]*):\/(.*)$/.exec(line) ?? [];
    if (line !== '') for (const controller of controllers.split(',')) paths.set(controller, path);
  }
  const [cpu, memory] = [paths.get('cpu'), paths.get('memory')];
  if (cpu === undefined && memory === undefined) return paths.get('');
  if (cpu === undefined || cpu !== memory) return undefined;
  return paths.get('name=systemd') ?? cpu;
}

/** Reads the path of the agent's own cgroup. Undefined if the host has no cgroups. */
export function readAgentCgroup(): string | undefined {
  try {
    return agentCgroup(readFileSync('/proc/self/cgroup', 'utf8'));
  } catch {
    return undefined;
  }
}
