import { GatewayError, type GatewayErrorDetail } from '@weir/kernel';
import { ParkingLot } from './parking-lot.js';

const MAIN = { account: 'main', model: 'm' };
const OTHER = { account: 'main', model: 'other' };
const SPARE = { account: 'spare', model: 'm' };

function error(failure: GatewayErrorDetail['failure'], detail: GatewayErrorDetail = {}): GatewayError {
  return new GatewayError('upstream_rate_limited', 'no', {
    origin: 'provider',
    ...(failure === undefined ? {} : { failure }),
    ...detail,
  });
}

describe('ParkingLot', () => {
  it('parks an account at once when its quota is spent, until the reset that was named', () => {
    const lot = new ParkingLot();
    expect(lot.failed(MAIN, error('quota_exhausted', { hintMs: 500 }), 1_000)).toEqual({
      account: 'main',
      model: undefined,
      reason: 'quota_exhausted',
      until: 1_500,
    });
    expect(lot.of(OTHER, 1_499)).toBeDefined();
    expect(lot.of(SPARE, 1_499)).toBeUndefined();
    expect(lot.of(MAIN, 1_500)).toBeUndefined();
    expect(lot.list(1_500)).toEqual([]);
  });

  it('parks without end where no reset is known, until a person acts', () => {
    const lot = new ParkingLot();
    lot.failed(MAIN, error('quota_exhausted'), 0);
    expect(lot.of(MAIN, Number.MAX_SAFE_INTEGER)).toBeDefined();
    lot.clear();
    expect(lot.of(MAIN, 0)).toBeUndefined();
  });

  it('parks one model where the provider spoke of one model', () => {
    const lot = new ParkingLot();
    lot.failed(MAIN, error('quota_exhausted', { perModel: true }), 0);
    expect(lot.of(MAIN, 1)).toMatchObject({ model: 'm' });
    expect(lot.of(OTHER, 1)).toBeUndefined();
  });

  it('parks a refused key only when it is refused twice in a row', () => {
    const lot = new ParkingLot();
    expect(lot.failed(MAIN, error('auth'), 0)).toBeUndefined();
    lot.succeeded(OTHER);
    expect(lot.failed(MAIN, error('auth'), 0)).toBeUndefined();
    expect(lot.of(MAIN, 0)).toBeUndefined();
    expect(lot.failed(OTHER, error('auth'), 0)).toMatchObject({ account: 'main', reason: 'auth' });
  });

  it.each(['auth', 'quota_exhausted'] as const)(
    'parks nobody for a page of a proxy, however often it comes: %s',
    (failure) => {
      const lot = new ParkingLot();
      const page = error(failure, { anonymous: true });
      for (let count = 0; count < 3; count += 1) expect(lot.failed(MAIN, page, 0)).toBeUndefined();
      expect(lot.list(0)).toEqual([]);
    },
  );

  it('does not count a page among the refusals in a row', () => {
    const lot = new ParkingLot();
    lot.failed(MAIN, error('auth'), 0);
    expect(lot.failed(MAIN, error('auth', { anonymous: true }), 0)).toBeUndefined();
    expect(lot.failed(MAIN, error('auth'), 0)).toMatchObject({ account: 'main', reason: 'auth' });
  });

  it('tells once, however many answers of the same minute say it, and keeps the reset that is known', () => {
    const lot = new ParkingLot();
    expect(lot.failed(MAIN, error('quota_exhausted'), 0)).toBeDefined();
    expect(lot.failed(MAIN, error('quota_exhausted', { hintMs: 9 }), 0)).toBeUndefined();
    expect(lot.failed(MAIN, error('quota_exhausted'), 0)).toBeUndefined();
    expect(lot.failed(MAIN, error('quota_exhausted', { hintMs: 5 }), 0)).toBeUndefined();
    expect(lot.list(0)).toMatchObject([{ until: 9 }]);
  });

  it.each(['rate_limit_requests', 'overloaded', 'invalid_request', undefined] as const)(
    'does not park for %s',
    (failure) => {
      const lot = new ParkingLot();
      expect(lot.failed(MAIN, error(failure), 0)).toBeUndefined();
      expect(lot.failed(MAIN, error(failure), 0)).toBeUndefined();
      expect(lot.list(0)).toEqual([]);
    },
  );
});
