import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { say } from './plan.mjs';

const APPS = ['simulator', 'gateway'];
const SOURCES = ['apps', 'libs', 'nest-cli.json', 'tsconfig.json', 'package-lock.json'];
const TEST = /\.(spec|contract)\.ts$/;

/** @returns when anything that is built was last written, in milliseconds. */
async function newest(path) {
  const found = await stat(path);
  if (!found.isDirectory()) return found.mtimeMs;
  const names = (await readdir(path)).filter((name) => !TEST.test(name));
  const times = await Promise.all(names.map((name) => newest(join(path, name))));
  return Math.max(found.mtimeMs, ...times);
}

/** @returns when `path` was written; 0 where it is missing. */
const writtenAt = (path) =>
  stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );

async function build(root, app, over) {
  const nest = join(root, 'node_modules/@nestjs/cli/bin/nest.js');
  const child = spawn(process.execPath, [nest, 'build', app], { cwd: root, stdio: 'inherit', signal: over });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`The build of ${app} failed.`);
}

/**
 * Builds both apps unless the last whole build is younger than every source.
 * The stamp carries the time at which the build began, so that what is written meanwhile counts as newer.
 * @param over ends a running build
 */
export async function buildIfStale(root, over) {
  const stamp = join(root, 'dist/.built');
  const began = new Date();
  const times = await Promise.all(SOURCES.map((source) => newest(join(root, source))));
  const outputs = [stamp, ...APPS.map((app) => join(root, `dist/apps/${app}/apps/${app}/src/main.js`))];
  const builtAt = Math.min(...(await Promise.all(outputs.map(writtenAt))));
  if (builtAt > Math.max(...times)) return;
  say('Building, which takes about half a minute the first time and after a change ...');
  await Promise.all(APPS.map((app) => build(root, app, over)));
  await mkdir(join(root, 'dist'), { recursive: true });
  await writeFile(stamp, '');
  await utimes(stamp, began, began);
}
