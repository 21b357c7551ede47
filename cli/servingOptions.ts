/** The options by which a node serves its own API. */
import type { Command } from 'commander';
import { onOrOff } from './onOrOff.ts';

export const addServingOptions = (command: Command): Command =>
  command
    .option('--enable-server [boolean]', "serve the node's API (default: true)", onOrOff)
    .option('--address <ip>', 'address that it is served at (default: 0.0.0.0; without --kubeconfig 127.0.0.1)')
    .option('--port <number>', 'its port; 0: any that is free (default: 10250)')
    .option('--read-only-port <number>', 'port where everybody may read without TLS; 0: none (default: 0)')
    .option('--healthz-port <number>', 'port where the agent tells that it lives; 0: none (default: 10248)')
    .option('--healthz-bind-address <ip>', 'address of that port (default: 127.0.0.1)')
    .option('--tls-cert-file <file>', 'certificate to serve by (default: from the API server, or one made here)')
    .option('--tls-private-key-file <file>', 'its key')
    .option('--client-ca-file <file>', 'certificates of those who vouch for clients (default: none)')
    .option('--anonymous-auth [boolean]', 'let in who says nothing of who they are (default: false)', onOrOff)
    .option(
      '--authentication-token-webhook [boolean]',
      'have the API server say whose a token is (default: true with --kubeconfig)',
      onOrOff,
    )
    .option('--authorization-mode <mode>', 'AlwaysAllow, or Webhook: ask the API server (default: Webhook)');
