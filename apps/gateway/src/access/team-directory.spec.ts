import { digestKey } from '@weir/config';
import { TeamDirectory } from './team-directory.js';

const search = { id: 'search', keys: [digestKey('k-search'), digestKey('k-new')], loopbackOnly: false };
const dev = { id: 'dev', keys: [digestKey('dev')], loopbackOnly: true };

function refusal(act: () => unknown): unknown {
  try {
    return act();
  } catch (error) {
    return error;
  }
}

describe('TeamDirectory', () => {
  const directory = new TeamDirectory(() => [search, dev]);

  it.each(['Bearer k-search', 'bearer k-new', 'BEARER   k-search'])('finds the team of %s', (header) => {
    expect(directory.holderOf(header, '10.0.0.1')).toBe(search);
  });

  it.each(['127.0.0.1', '127.8.9.1', '::1', '::ffff:127.0.0.1'])('lets dev in from %s', (address) => {
    expect(directory.holderOf('Bearer dev', address)).toBe(dev);
  });

  it.each([
    ['no header', undefined, '127.0.0.1'],
    ['another scheme', 'Basic ZGV2', '127.0.0.1'],
    ['an empty key', 'Bearer ', '127.0.0.1'],
    ['two words', 'Bearer k-search k-new', '127.0.0.1'],
    ['an unknown key', 'Bearer k-other', '127.0.0.1'],
    ['dev from elsewhere', 'Bearer dev', '10.0.0.1'],
    ['dev from an address that only looks like loopback', 'Bearer dev', '::ffff:128.0.0.1'],
    ['dev from nowhere', 'Bearer dev', undefined],
  ])('refuses %s, and never repeats the key', (_, header, address) => {
    expect(refusal(() => directory.holderOf(header, address))).toMatchObject({
      code: 'unauthorized',
      status: 401,
      message: expect.not.stringMatching(/k-|ZGV2/) as string,
    });
  });

  it.each([undefined, 'Basic ZGV2', 'Bearer k-search'])(
    'of admins asks for an admin key, given %s',
    (header) => {
      const admins = new TeamDirectory(() => [dev], 'admin');
      expect(refusal(() => admins.holderOf(header, '10.0.0.1'))).toMatchObject({
        code: 'unauthorized',
        message: expect.stringContaining('admin key') as string,
      });
    },
  );

  it('follows a reload: new keys open, old ones do not', () => {
    let holders = [search];
    const live = new TeamDirectory(() => holders);
    expect(live.holderOf('Bearer k-search', undefined)).toBe(search);
    const renewed = { ...search, keys: [digestKey('k-renewed')] };
    holders = [renewed];
    expect(live.holderOf('Bearer k-renewed', undefined)).toBe(renewed);
    expect(refusal(() => live.holderOf('Bearer k-search', undefined))).toHaveProperty('code', 'unauthorized');
  });
});
