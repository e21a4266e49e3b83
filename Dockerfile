# exll in a container: docs/docker.md.
FROM python:3.13-slim AS build
# Which extras: studio and bench. heic is left out, since its wheels hold GPL code.
ARG EXTRAS=studio,bench
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY src src
# What is installed is the folder copied above; pyproject.toml says which versions it needs.
# hadolint ignore=DL3013
RUN python -m venv --without-pip /opt/exll \
    && pip --python /opt/exll/bin/python install --no-cache-dir --disable-pip-version-check ".[${EXTRAS}]"

FROM python:3.13-slim
COPY --from=build /opt/exll /opt/exll
COPY tools/healthcheck.py /opt/healthcheck.py
# The home folder is the volume: models, projects, the cache and the studio's certificate outlive the container.
RUN useradd --uid 10001 --create-home --home-dir /data exll
ENV PATH=/opt/exll/bin:$PATH \
    PYTHONUNBUFFERED=1
USER 10001
WORKDIR /data
VOLUME /data
EXPOSE 8765
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s CMD ["python", "/opt/healthcheck.py", "8765"]
ENTRYPOINT ["exll"]
CMD ["studio", "/data/studio", "--host", "0.0.0.0"]
