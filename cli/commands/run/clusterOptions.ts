/** The options by which a node belongs to a cluster. */
import type { Command } from 'commander';
import { onOrOff } from '../../onOrOff.ts';

export const addClusterOptions = (command: Command): Command =>
  command
    .option('--kubeconfig <file>', 'kubeconfig of the cluster that the node belongs to (default: none)')
    .option(
      '--bootstrap-kubeconfig <file>',
      'kubeconfig to ask for a client certificate by, where that of the node has none that is good (default: none)',
    )
    .option('--cert-dir <directory>', 'directory of the certificates that the node keeps (default: pki in --root-dir)')
    .option('--rotate-certificates [boolean]', 'renew the client certificate (default: false)', onOrOff)
    .option(
      '--rotate-server-certificates [boolean]',
      'ask the API server for a serving certificate, and renew it (default: false)',
      onOrOff,
    )
    .option('--register-node [boolean]', 'make the Node object; false: somebody else does (default: true)', onOrOff)
    .option('--register-with-taints <taints>', 'taints to register the node with, as key=value:NoSchedule')
    .option('--provider-id <id>', 'the ID by which a cloud knows the node')
    .option(
      '--cloud-provider <name>',
      'external: a controller of a cloud tells the addresses of the node (default: none)',
    );
