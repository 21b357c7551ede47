import type { Command } from 'commander';
import { outputOption } from '../get/getCommand.ts';
import { socketOptions } from '../stream/podCommands.ts';
import type { ImageImportOptions, ImageListOptions, RuntimeOptions } from './image.ts';

export interface ImageCommands {
  imageList(names: string[], options: ImageListOptions): Promise<void>;
  imageImport(file: string, options: ImageImportOptions): Promise<void>;
  imagePull(names: string[], options: RuntimeOptions): Promise<void>;
  imageRemove(names: string[], options: RuntimeOptions): Promise<void>;
}

const runtimeOptions = (command: Command): Command =>
  socketOptions(command).option(
    '--container-runtime-endpoint <socket>',
    'endpoint of the runtime, e.g. unix:///path (default: that of the running agent)',
  );

export function addImageCommand(program: Command, commands: ImageCommands): void {
  const image = program.command('image').description('manage the images of the container runtime');
  runtimeOptions(image.command('list').alias('ls').description('list the images of the container runtime'))
    .argument('[name...]', 'list only images with this name')
    .addOption(outputOption())
    .option('--no-headers', 'do not print headers')
    .action((names: string[], options: ImageListOptions) => commands.imageList(names, options));
  runtimeOptions(
    image
      .command('import')
      .description('import images from a file so that pods can use them without a registry; requires containerd'),
  )
    .argument(
      '<file>',
      'archive of "docker save" or "podman save", or a tar archive of an OCI layout, optionally compressed; - reads from standard input',
    )
    .option('--name <image>', 'name to import the image under, if the archive contains only one')
    .action((file: string, options: ImageImportOptions) => commands.imageImport(file, options));
  runtimeOptions(
    image
      .command('pull')
      .description(
        "pull images with the node's credentials, like for a pod without imagePullSecrets; they count as preloaded",
      ),
  )
    .argument('<name...>', 'name of the image')
    .action((names: string[], options: RuntimeOptions) => commands.imagePull(names, options));
  runtimeOptions(
    image
      .command('remove')
      .alias('rm')
      .description('remove images that no container uses; if an image has several names, remove only the given name'),
  )
    .argument('<name...>', 'name of the image, or its ID to remove it with all of its names')
    .action((names: string[], options: RuntimeOptions) => commands.imageRemove(names, options));
}
