import { isAbsolute, normalize } from 'node:path';
import { runDirectory, systemStateDirectory } from '../../host/paths.ts';
import { directorySchema, matchingStringSchema, pathSchema, stringSchema } from '../fields/fields.ts';
import { declareSettings } from './setting.ts';

/**
 * Schema of the directory for pod logs. An absolute path must already be normalized. A relative path is resolved
 * against the directory of the configuration file.
 */
const podLogsDirSchema = matchingStringSchema(
  'a directory without "..", "//" or a slash at its end, in ASCII',
  (name) => {
    const isPrintableAscii = /^[\x20-\x7e]*$/.test(name);
    return isPrintableAscii && (!isAbsolute(name) || name === '/' || (normalize(name) === name && !name.endsWith('/')));
  },
);

export const directorySettings = () =>
  declareSettings({
    '--root-dir': {
      type: directorySchema,
      default: runDirectory,
      flag: {
        argument: '<directory>',
        help: 'directory for volumes and persistent state; relative paths are resolved against the working directory (default: {default})',
        upDefault: 'kubelet in the state directory',
      },
    },
    podLogsDir: {
      type: podLogsDirSchema,
      isPath: true,
      default: '/var/log/pods',
      effect: 'the directory for container logs; its sibling `containers/` contains symlinks to them ({default})',
      flag: {
        name: '--pod-log-dir',
        argument: '<directory>',
        type: directorySchema,
        help: 'directory for container logs; its sibling containers/ contains symlinks to them (default: {default})',
        upDefault: 'log/pods in the state directory',
      },
    },
    '--device-plugin-dir': {
      type: directorySchema,
      default: '/var/lib/kubelet/device-plugins',
      flag: {
        argument: '<directory>',
        help: 'directory in which device plugins register and have their sockets; only one agent on the host can use it (default: {default})',
        upDefault: 'device-plugins in the state directory',
      },
    },
    '--runtime-class-path': {
      type: pathSchema,
      flag: {
        argument: '<directory>',
        help: 'directory of RuntimeClass manifests; in a cluster, for classes that the API server does not have (default: {default})',
      },
    },
    volumePluginDir: {
      type: stringSchema,
      default: '/usr/libexec/kubernetes/kubelet-plugins/volume/exec/',
      ignoredReason: 'there are no FlexVolume plugins',
      unsupportedFlag: '--volume-plugin-dir',
    },
  });

export const stateDirectorySettings = () =>
  declareSettings({
    '--state-dir': {
      type: directorySchema,
      flag: {
        argument: '<directory>',
        command: 'up',
        help: `directory for all data of the node (default: $STATELET_STATE_DIR, or ${systemStateDirectory})`,
      },
    },
  });
