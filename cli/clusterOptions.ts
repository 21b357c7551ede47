/** The options by which a node belongs to a cluster. */
import type { Command } from 'commander';

export const addClusterOptions = (command: Command): Command =>
  command
    .option('--kubeconfig <file>', 'kubeconfig of the cluster that the node belongs to (default: none)')
    .option('--register-node [boolean]', 'make the Node object; false: somebody else does (default: true)', onOrOff)
    .option('--register-with-taints <taints>', 'taints to register the node with, as key=value:NoSchedule')
    .option('--provider-id <id>', 'the ID by which a cloud knows the node')
    .option('--cloud-provider <name>', 'not supported in this version: a name is refused (default: none)');

/** As a kubelet's flags: on as soon as it is named, unless a value says otherwise. */
const onOrOff = (value: string): boolean | string => (value === 'true' || value === 'false' ? value === 'true' : value);
