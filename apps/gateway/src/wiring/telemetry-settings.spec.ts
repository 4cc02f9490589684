import { telemetrySettings } from './telemetry-settings.js';

const DEFAULTS = {
  logLevel: 'info',
  mode: 'on',
  exportRatio: 1,
  service: { name: 'weir', version: '0.1.0' },
};

describe('telemetrySettings', () => {
  it('has defaults, also for what is empty', () => {
    const names = ['WEIR_LOG_LEVEL', 'WEIR_TELEMETRY', 'WEIR_TRACE_EXPORT_RATIO', 'OTEL_SERVICE_NAME'];
    const empty = [...names, 'OTEL_EXPORTER_OTLP_ENDPOINT'].map((name) => [name, ''] as const);
    const good = { settings: DEFAULTS, faults: [] };
    expect(telemetrySettings({})).toEqual(good);
    expect(telemetrySettings(Object.fromEntries(empty))).toEqual(good);
  });

  it('takes what is set', () => {
    const env = {
      WEIR_LOG_LEVEL: 'warn',
      WEIR_TELEMETRY: 'off',
      WEIR_TRACE_EXPORT_RATIO: '0',
      OTEL_SERVICE_NAME: 'edge',
      npm_package_version: '1.2.3',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318',
    };
    expect(telemetrySettings(env).settings).toEqual({
      logLevel: 'warn',
      mode: 'off',
      exportRatio: 0,
      service: { name: 'edge', version: '1.2.3' },
      endpoint: 'http://collector:4318',
    });
  });

  it.each([
    ['WEIR_LOG_LEVEL', 'verbose', 'debug, info, warn, error, silent'],
    ['WEIR_LOG_LEVEL', 'WARN', 'debug, info, warn, error, silent'],
    ['WEIR_TELEMETRY', 'false', 'on, off'],
    ['WEIR_TRACE_EXPORT_RATIO', '10%', 'from 0 to 1'],
    ['WEIR_TRACE_EXPORT_RATIO', '2', 'from 0 to 1'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'foo', 'an http:// or https:// address'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318', 'an http:// or https:// address'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http://', 'an http:// or https:// address'],
  ])('refuses %s=%s, and says what is allowed', (name, value, allowed) => {
    const { settings, faults } = telemetrySettings({ [name]: value });
    expect(faults).toMatchObject([{ path: name, value: `"${value}"` }]);
    expect(faults[0]?.allowed).toContain(allowed);
    expect(settings).toEqual(DEFAULTS);
  });

  it('names every fault at once', () => {
    const { faults } = telemetrySettings({
      WEIR_LOG_LEVEL: 'all',
      WEIR_TELEMETRY: 'no',
      WEIR_TRACE_EXPORT_RATIO: 'x',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'foo',
    });
    expect(faults).toHaveLength(4);
  });

  it.each(['http://user:secret@collector:4318', 'http://collector:4318?key=secret', 'user:secret@collector'])(
    'shows no credential: %s',
    (value) => {
      const { faults } = telemetrySettings({ OTEL_EXPORTER_OTLP_ENDPOINT: value });
      expect(faults).toHaveLength(1);
      expect(JSON.stringify(faults)).not.toContain('secret');
    },
  );
});
