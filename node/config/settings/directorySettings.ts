import { isAbsolute, normalize } from 'node:path';
import { runDirectory, systemStateDirectory } from '../../host/paths.ts';
import { directory, matchingStringSchema, path, stringSchema } from '../fields.ts';
import { declareSettings } from './setting.ts';

/**
 * Schema of the directory of pod logs. An absolute path must already be normalized. A relative path is joined to the
 * file's directory.
 */
const podLogsDir = matchingStringSchema('a directory without "..", "//" or a slash at its end, in ASCII', (name) => {
  const isPrintableAscii = /^[\x20-\x7e]*$/.test(name);
  return isPrintableAscii && (!isAbsolute(name) || name === '/' || (normalize(name) === name && !name.endsWith('/')));
});

/** Settings of the node's directories. */
export const directorySettings = () =>
  declareSettings({
    '--root-dir': {
      type: directory,
      default: runDirectory,
      flag: {
        argument: '<directory>',
        help: 'directory for volumes and saved state; a relative path starts at the working directory (default: {default})',
        upDefault: 'kubelet in the state directory',
      },
    },
    podLogsDir: {
      type: podLogsDir,
      isPath: true,
      default: '/var/log/pods',
      effect: "the containers' logs; symlinks to them lie in `containers/` beside it ({default})",
      flag: {
        name: '--pod-log-dir',
        argument: '<directory>',
        type: directory,
        help: 'directory for container logs; symlinks to them go to containers/ beside it (default: {default})',
        upDefault: 'log/pods in the state directory',
      },
    },
    '--runtime-class-path': {
      type: path,
      flag: {
        argument: '<directory>',
        help: 'directory of RuntimeClass manifests; in a cluster for classes that it lacks (default: {default})',
      },
    },
    volumePluginDir: {
      type: stringSchema,
      default: '/usr/libexec/kubernetes/kubelet-plugins/volume/exec/',
      ignored: 'there are no FlexVolume plugins',
      unsupportedFlag: '--volume-plugin-dir',
    },
  });

/** Setting of the state directory of `up`. */
export const stateDirectorySettings = () =>
  declareSettings({
    '--state-dir': {
      type: directory,
      flag: {
        argument: '<directory>',
        command: 'up',
        help: `directory for everything the node keeps (default: $STATELET_STATE_DIR, or ${systemStateDirectory})`,
      },
    },
  });
