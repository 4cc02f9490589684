const OLDEST = [24, 9];

/** @returns what to do where `version` is too old for undici 8 and require(esm); nothing where it is not. */
export function complaintAbout(version) {
  const [major, minor] = version.split('.').map(Number);
  if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) return undefined;
  return [
    `Weir needs Node ${OLDEST.join('.')} or newer, and this is ${version}.`,
    'On Linux x64 and arm64 it comes with the install: run `npm ci` (without --omit=optional), then `npm start`.',
    'Elsewhere install Node 24 first.',
  ].join('\n');
}
