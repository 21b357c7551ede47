/** The options by which a node serves its own API. */
import type { Command } from 'commander';
import { onOrOff } from '../../onOrOff.ts';

export const addServingOptions = (command: Command): Command =>
  command
    .option('--enable-server [boolean]', "serve the node's API (default: true)", onOrOff)
    .option('--address <ip>', 'address of the API (default: 0.0.0.0; without --kubeconfig 127.0.0.1)')
    .option('--port <number>', 'its port; 0: any that is free (default: 10250)')
    .option('--read-only-port <number>', 'port without TLS where everybody may read; 0: none (default: 0)')
    .option('--healthz-port <number>', 'port of the health check; 0: none (default: 10248)')
    .option('--healthz-bind-address <ip>', 'address of that port (default: 127.0.0.1)')
    .option(
      '--tls-cert-file <file>',
      'serving certificate (default: from the API server, or one that the node creates)',
    )
    .option('--tls-private-key-file <file>', 'its key')
    .option('--client-ca-file <file>', 'certificates of the authorities of clients (default: none)')
    .option('--anonymous-auth [boolean]', 'let in clients without credentials (default: false)', onOrOff)
    .option(
      '--authentication-token-webhook [boolean]',
      'have the API server review tokens (default: true with --kubeconfig)',
      onOrOff,
    )
    .option('--authorization-mode <mode>', 'AlwaysAllow, or Webhook: ask the API server (default: Webhook)');
